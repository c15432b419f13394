/** Sequences by which terminals are steered. */
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]{0,1000}(?:\u0007|\u001b\\)?|[@-Z\\-_])/gu;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Text that changes nothing where it is shown. */
export function withoutControls(text: string): string {
  return text.toWellFormed().replace(ESCAPES, '').replace(CONTROLS, '');
}
