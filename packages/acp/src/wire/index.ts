export { childStream, type ChildStream } from './child-stream.js';
export { fileRecorder, type FileRecorder } from './file-recorder.js';
export { replayTraffic, type ReplayOptions, type ReplayStream } from './replay-traffic.js';
export { type RecordedRun, TrafficRecorder, type TrafficRecorderOptions } from './traffic-recorder.js';
export { ChildInputClosedError, RecordingError, ReplayMismatchError } from './wire-errors.js';
