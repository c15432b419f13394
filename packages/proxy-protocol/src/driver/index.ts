export { type DescribedResult, describeResult } from './describe-result.js';
export { drive } from './drive.js';
export { type DriveEvent, type DriveOptions, type DriveOutcome, type TurnOutcome } from './driver-types.js';
export { type ActOptions, PlayedTurn } from './played-turn.js';
