/**
 * One way of an agent to behave, and what has to become of a run with it.
 *
 * @typedef {object} MockMode
 * @property {string} name
 * @property {import('../mock/script.mjs').MockScript} [script]
 * @property {string} [command] in place of the mock; `{made}` stands for the path of what was made
 * @property {readonly string[]} [args] of `command`
 * @property {boolean} [wrapped] the mock is started by a shell that waits for it, as package runners do
 * @property {Made} [make] is made in the folder of the run before it
 * @property {Record<string, any>} [options] of the provider; `{made}` as `cwd` likewise
 * @property {Cancel} [cancel]
 * @property {Expected} expect
 * @property {number} [withinMs] from the start, or from the cancel, to the result; default `WITHIN_MS`
 *
 * @typedef {object} Made
 * @property {string} [file]
 * @property {number} [mode] of the file
 * @property {string} [folder]
 * @property {string} [loop] a link to itself
 *
 * @typedef {object} Cancel
 * @property {'before' | 'initialize' | 'session/new' | 'text'} when the child has got there
 * @property {'signal' | 'cancel' | 'dispose'} [by] default `signal`
 *
 * @typedef {object} Expected
 * @property {string} [start] pattern: the start is refused with this
 * @property {string} [stopReason]
 * @property {string} [output]
 * @property {string} [outputPattern]
 * @property {string} [diagnostic] pattern
 */

/** Far more than anything takes here that has not to wait for a deadline, on a busy machine too. */
export const WITHIN_MS = 12_000;
