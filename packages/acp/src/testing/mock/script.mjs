/**
 * What a mock is told on its command line. Each list of steps takes the place of what a good agent does there.
 *
 * @typedef {object} MockScript
 * @property {string} [journal] file for what it saw and did
 * @property {readonly object[]} [start] before it reads anything
 * @property {readonly object[]} [initialize] when asked to
 * @property {readonly object[]} [newSession]
 * @property {readonly object[]} [closeSession] default: there is no such method
 * @property {readonly (readonly object[])[]} [prompts] for the first prompt, the second … and the last for all further ones
 * @property {readonly object[]} [cancel] in addition to telling the open prompt
 * @property {readonly object[]} [eof] when its stdin ends; default: it exits with 0
 * @property {readonly object[]} [term] on SIGTERM, which does not end it by itself then
 * @property {boolean} [crlf] its lines end with a carriage return too
 * @property {boolean} [stays] it lives on when nothing is left to do
 */
export {};
