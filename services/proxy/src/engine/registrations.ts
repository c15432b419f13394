import { type EnvServer, type Fact, type JsonObject, Refusal, type SkillRef } from '../domain/facts.js';
import { whyNotJson } from '../domain/json-values.js';
import { quote } from '../domain/python-repr.js';
import { stopping } from '../domain/refusals.js';
import type { EngineCore } from './engine-core.js';
import { Gate } from './gate.js';

/** What turns to come will have: the agent's configuration, env servers, skills. One change after the other. */
export class Registrations {
  readonly #gate = new Gate();

  constructor(private readonly core: EngineCore) {}

  async configureAgent(changes: JsonObject): Promise<void> {
    const fault = whyNotJson(changes);
    if (fault !== undefined) throw new Refusal(400, `the configuration can't be kept: it ${fault}`);
    await this.#change(() => ({ kind: 'agent_configured', at: this.core.times.now(), changes }));
  }

  async addServer(server: EnvServer): Promise<void> {
    await this.#change(() => {
      this.#refuseTaken(server);
      return { kind: 'server_added', at: this.core.times.now(), server };
    });
  }

  async removeServer(name: string): Promise<boolean> {
    return this.#change(() => {
      const isKnown = this.core.state.servers.some((server) => server.name === name);
      return isKnown ? { kind: 'server_removed', at: this.core.times.now(), name } : undefined;
    });
  }

  async addSkill(skill: SkillRef): Promise<void> {
    await this.#change(() => {
      if (this.core.state.hasSkill(skill.name)) {
        throw new Refusal(409, `Skill ${quote(skill.name)} is already registered`);
      }
      return { kind: 'skill_added', at: this.core.times.now(), skill };
    });
  }

  #refuseTaken({ name, url }: EnvServer): void {
    const { servers } = this.core.state;
    const sameUrl = servers.find((server) => server.url === url);
    if (sameUrl !== undefined) {
      throw new Refusal(409, `MCP URL ${quote(url)} already registered as ${quote(sameUrl.name)}`);
    }
    if (servers.some((server) => server.name === name)) {
      throw new Refusal(409, `MCP name ${quote(name)} is already registered`);
    }
  }

  /** False if there was nothing to change. */
  async #change(decide: () => Fact | undefined): Promise<boolean> {
    if (this.core.isStopping) throw stopping();
    const admitted = this.#gate.hold();
    if (admitted !== undefined) await admitted;
    try {
      const fact = decide();
      const kept = fact && this.core.keeper.keep('proxy', fact);
      if (kept !== undefined) await kept;
      return fact !== undefined;
    } finally {
      this.#gate.release();
    }
  }
}
