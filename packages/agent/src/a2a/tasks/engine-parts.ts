import type { AgentCard, Message } from '@a2a-js/sdk';
import type {
  AgentExecutor,
  PushNotificationSender,
  PushNotificationStore,
  ServerCallContext,
  TaskStore,
} from '@a2a-js/sdk/server';
import type { Logger } from '@parley/service-kit';
import type { AgreementGate } from '../agreement/agreement-gate.js';
import type { MessageMemory } from './message-memory.js';
import type { UnstoredEndings } from './unstored-endings.js';
import type { RunningCount } from './running-count.js';
import type { TaskChannels } from './task-channels.js';
import type { TaskTurn } from './task-turn.js';
import type { TurnSlots } from './turn-slots.js';

export interface PushParts {
  readonly store: PushNotificationStore;
  readonly sender: PushNotificationSender;
}

/** What the operations of an engine share. */
export interface EngineParts {
  readonly card: () => AgentCard;
  readonly extendedCard: ((context: ServerCallContext) => AgentCard) | undefined;
  readonly executor: AgentExecutor;
  readonly store: TaskStore;
  readonly push: PushParts | undefined;
  readonly gate: AgreementGate | undefined;
  readonly taskDeadlineMs: number;
  readonly cancelGraceMs: number;
  readonly logger: Logger;
  readonly now: () => number;
  readonly newId: () => string;
  readonly channels: TaskChannels;
  readonly slots: TurnSlots;
  readonly running: RunningCount;
  readonly memory: MessageMemory<SentMessage>;
  readonly unstored: UnstoredEndings;
}

/** A turn for a message, and whether its answer speaks of an agreement. */
export interface OpenedTurn {
  readonly turn: TaskTurn;
  readonly usesAgreement: boolean;
}

/** What is remembered of a message. */
export interface SentMessage {
  /** While it is worked on. */
  opening: Promise<TaskTurn> | undefined;
  /** Once its turn is over. */
  taskId: string | undefined;
  /** The answer, if it is no task. */
  message: Message | undefined;
  usesAgreement: boolean;
}
