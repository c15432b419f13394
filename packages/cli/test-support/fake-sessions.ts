import type { Message } from '@parley/harness';
import type { OpenSession, Sessions, SessionSummary } from '../src/sessions/sessions.js';
import type { AgentPorts } from '../src/interactive/run-interactive.js';
import { UsageError } from '../src/usage-error.js';
import { FakeAgent } from './fake-agent.js';

/** Sessions whose agents do nothing by themselves. */
export class FakeSessions implements Sessions {
  readonly agents: FakeAgent[] = [];
  readonly histories = new Map<string, readonly Message[]>();
  readonly ports: AgentPorts;
  #count = 0;

  constructor(ports: AgentPorts) {
    this.ports = ports;
  }

  /** The agent of the session that was opened last. */
  get agent(): FakeAgent {
    const agent = this.agents.at(-1);
    if (agent === undefined) throw new Error('no session was opened');
    return agent;
  }

  create(id?: string): Promise<OpenSession> {
    this.#count += 1;
    return Promise.resolve(this.#opened(id ?? `new${this.#count}`));
  }

  open(ref: string): Promise<OpenSession> {
    if (!this.histories.has(ref)) return Promise.reject(new UsageError(`no session ${ref}`));
    return Promise.resolve(this.#opened(ref));
  }

  fork(ref: string): Promise<OpenSession> {
    return Promise.resolve(this.#opened(`${ref}@fork`, ref));
  }

  list(): Promise<SessionSummary[]> {
    return Promise.resolve(
      [...this.histories].map(([ref, messages]) => ({
        ref,
        title: `about ${ref}`,
        updatedAt: Date.UTC(2026, 10, 30),
        messageCount: messages.length,
      })),
    );
  }

  #opened(ref: string, historyOf = ref): OpenSession {
    const agent = new FakeAgent((event) => void this.ports.onEvent(event));
    agent.messages = this.histories.get(historyOf) ?? [];
    this.agents.push(agent);
    return { ref, agent, notices: [] };
  }
}
