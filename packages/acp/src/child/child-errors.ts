import { HarnessError } from '@parley/harness';

export type WorkingFolderFault = 'not_absolute' | 'missing' | 'not_a_folder' | 'not_enterable';

const FAULTS: Readonly<Record<WorkingFolderFault, string>> = {
  not_absolute: 'is not absolute',
  missing: 'does not exist',
  not_a_folder: 'is no folder',
  not_enterable: 'may not be entered',
};

/** The working folder of a child cannot be one. Code `working_folder_` and the fault. */
export class WorkingFolderError extends HarnessError {
  override readonly name = 'WorkingFolderError';

  constructor(
    readonly path: string,
    readonly fault: WorkingFolderFault,
  ) {
    super(`working_folder_${fault}`, `the working folder ${JSON.stringify(path)} ${FAULTS[fault]}`);
  }
}

/** A child's program could not be started. Code `child_start_failed`. */
export class ChildStartError extends HarnessError {
  override readonly name = 'ChildStartError';

  constructor(
    message: string,
    /** Of the system, such as ENOENT or EACCES; EINVAL for what can be no program, argument or variable. */
    readonly systemCode: string,
  ) {
    super('child_start_failed', message);
  }
}
