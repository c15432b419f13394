import type { EnvServer, Fact, JsonObject, SkillRef, TurnFact } from './facts.js';
import { TurnState } from './turn-state.js';

type Claim = Extract<Fact, { kind: 'claimed' }>;

/** All that a proxy is: what applying its facts in order makes of nothing. */
export class ProxyState {
  #version = 0;
  #claim: Claim | undefined;
  #agentConfig: JsonObject = {};
  readonly #servers = new Map<string, EnvServer>();
  readonly #skills = new Map<string, SkillRef>();
  readonly #turns = new Map<string, TurnState>();
  /** In order of opening. */
  readonly #open = new Map<string, TurnState>();

  /** Grows with every turn that opens or closes, and with every start. */
  get version(): number {
    return this.#version;
  }

  get tokenHash(): string | undefined {
    return this.#claim?.tokenHash;
  }

  /** The claim that lives. */
  get claim(): Claim | undefined {
    return this.#claim;
  }

  get agentConfig(): JsonObject {
    return this.#agentConfig;
  }

  /** As it is when a message arrives. */
  get systemPrompt(): string | null {
    const prompt = this.#agentConfig['system_prompt'];
    return typeof prompt === 'string' ? prompt : null;
  }

  get servers(): readonly EnvServer[] {
    return [...this.#servers.values()];
  }

  get skills(): readonly SkillRef[] {
    return [...this.#skills.values()];
  }

  hasSkill(name: string): boolean {
    return this.#skills.has(name);
  }

  /** Every task that is kept, by id. */
  get turns(): ReadonlyMap<string, TurnState> {
    return this.#turns;
  }

  /** Opened and not closed, in order of opening; some may be ending. */
  get openTurns(): ReadonlyMap<string, TurnState> {
    return this.#open;
  }

  /** The turn in which a driver may do something. */
  openTurn(taskId: string): TurnState | undefined {
    const turn = this.#open.get(taskId);
    return turn?.isOpen === true ? turn : undefined;
  }

  /** After the facts of several tasks came task by task, which is not the order of opening. */
  sortOpenTurns(): void {
    const turns = [...this.#open].sort(
      ([, one], [, other]) => (one.opened?.version ?? 0) - (other.opened?.version ?? 0),
    );
    this.#open.clear();
    for (const [taskId, turn] of turns) this.#open.set(taskId, turn);
  }

  apply(fact: Fact): void {
    switch (fact.kind) {
      case 'started':
        this.#raiseVersion(fact.version);
        break;
      case 'claimed':
        // While one lives no other is asked for: of two, the first seemed not to be written, and was refused.
        this.#claim = fact;
        break;
      case 'released':
        if (this.#claim?.agreementId === fact.agreementId) this.#claim = undefined;
        break;
      case 'agent_configured':
        this.#agentConfig = { ...this.#agentConfig, ...fact.changes };
        break;
      case 'server_added':
        this.#servers.set(fact.server.name, fact.server);
        break;
      case 'server_removed':
        this.#servers.delete(fact.name);
        break;
      case 'skill_added':
        this.#skills.set(fact.skill.name, fact.skill);
        break;
      default:
        this.#applyToTurn(fact);
    }
  }

  #applyToTurn(fact: TurnFact): void {
    const { taskId } = fact;
    const turn = this.#turns.get(taskId);
    if (turn === undefined) {
      if (fact.kind === 'turn_submitted') this.#turns.set(taskId, new TurnState(fact));
      return;
    }
    if (fact.kind === 'turn_forgotten') {
      if (turn.closed !== undefined) this.#turns.delete(taskId);
      return;
    }
    turn.apply(fact);
    if (fact.kind === 'turn_opened') {
      if (turn.closed === undefined) this.#open.set(taskId, turn);
      this.#raiseVersion(fact.version);
    } else if (fact.kind === 'turn_closed') {
      this.#open.delete(taskId);
      this.#raiseVersion(fact.version ?? 0);
    }
  }

  #raiseVersion(version: number): void {
    this.#version = Math.max(this.#version, version);
  }
}
