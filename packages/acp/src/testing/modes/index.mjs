import { ANSWER_MODES } from './answer-modes.mjs';
import { CANCEL_MODES } from './cancel-modes.mjs';
import { COMMAND_MODES } from './command-modes.mjs';
import { PERMISSION_MODES } from './permission-modes.mjs';
import { PROCESS_MODES } from './process-modes.mjs';
import { PROTOCOL_MODES } from './protocol-modes.mjs';

/** Every way of an agent to behave, by what it is about. */
export const MODES = {
  answers: ANSWER_MODES,
  protocol: PROTOCOL_MODES,
  permissions: PERMISSION_MODES,
  cancels: CANCEL_MODES,
  processes: PROCESS_MODES,
  commands: COMMAND_MODES,
};
