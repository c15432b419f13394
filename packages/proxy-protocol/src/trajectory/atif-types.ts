import type { Json, JsonObject } from '../json/index.js';

/** The Agent Trajectory Interchange Format of the Harbor project, version 1.7, as far as it is written here. */
export interface AtifTrajectory {
  readonly schema_version: 'ATIF-v1.7';
  readonly session_id: string;
  readonly agent: { readonly name: string; readonly version: string; readonly model_name?: string };
  readonly steps: readonly AtifStep[];
  readonly final_metrics: {
    readonly total_prompt_tokens?: number;
    readonly total_completion_tokens?: number;
    readonly total_cached_tokens?: number;
    readonly total_steps: number;
  };
  readonly notes?: string;
}

export interface AtifStep {
  /** From 1 on. */
  readonly step_id: number;
  readonly timestamp: string;
  readonly source: 'system' | 'user' | 'agent';
  readonly message: string;
  /** The rest is of the agent's steps alone. */
  readonly model_name?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly AtifToolCall[];
  readonly observation?: { readonly results: readonly AtifResult[] };
  readonly metrics?: AtifMetrics;
  /** 0 for what no model decided. */
  readonly llm_call_count?: 0 | 1;
  readonly extra?: JsonObject;
}

export interface AtifToolCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: Json;
}

export interface AtifResult {
  readonly source_call_id: string;
  readonly content: string;
  readonly extra?: JsonObject;
}

export interface AtifMetrics {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cached_tokens?: number;
}
