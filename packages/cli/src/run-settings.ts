import type { Allowance } from './agent/approvals.js';

/** Which session a run goes on with. */
export type SessionChoice =
  | { readonly type: 'new'; readonly id?: string }
  | { readonly type: 'latest' }
  | { readonly type: 'resume'; readonly ref: string }
  | { readonly type: 'fork'; readonly ref: string };

export interface ModelSettings {
  readonly isOffline: boolean;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** Tokens that the model can take in. */
  readonly contextTokens: number;
}

/** What an agent of this program is made of. */
export interface AgentSettings extends ModelSettings {
  /** Absolute; files and commands are below it. */
  readonly cwd: string;
  readonly systemPrompt: string | undefined;
  /** Absolute. */
  readonly skillsDir: string | undefined;
  /** Absolute. */
  readonly mcpFile: string | undefined;
  readonly allowed: ReadonlySet<Allowance>;
  readonly maxSteps: number;
  /** Tokens of one run. */
  readonly maxTokens: number | undefined;
}

/** `parley run`, read and checked. */
export interface RunSettings {
  readonly agent: AgentSettings;
  readonly session: SessionChoice;
  /** Absolute. */
  readonly sessionsDir: string;
  readonly mode: 'interactive' | 'print' | 'json' | 'list-sessions';
  /** What was given as arguments. */
  readonly task: string | undefined;
  /** True if the task goes on on the standard input, to its end. */
  readonly readsInput: boolean;
}
