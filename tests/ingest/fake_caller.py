"""A caller that answers from a function, and agents that need no provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from ingest.run.agents import Agent, Provider
from ingest.run.call import Answer, CallProblem, CallRequest, Progress, Usage

Reply = Callable[[CallRequest], str | CallProblem]


def agent(name: str, model: str = "hosted_vllm/some-model", **parameters: object) -> Agent:
    return Agent(name, model, Provider("local", "http://localhost:1/v1"), parameters)


@dataclass
class FakeCaller:
    """Answers with what `reply` says, last request first, because nothing may rely on the order of answers."""

    reply: Reply
    asked: list[CallRequest] = field(default_factory=list)

    def call(self, request: CallRequest) -> Answer:
        self.asked.append(request)
        said = self.reply(request)
        if isinstance(said, CallProblem):
            raise said
        usage = Usage(10, 5)
        return Answer(said, "stop", "some-model-0101", usage, Decimal("0.01"), request.key, 1, "2026-01-01T00:00:00Z")

    def call_all(
        self, requests: Iterable[CallRequest], progress: Progress | None = None
    ) -> Iterator[tuple[CallRequest, Answer | CallProblem]]:
        todo = list(requests)
        for done, request in enumerate(reversed(todo), start=1):
            try:
                outcome: Answer | CallProblem = self.call(request)
            except CallProblem as problem:
                outcome = problem
            if progress is not None:
                progress(done, len(todo))
            yield request, outcome
