export { createMember, type ProxyMember } from './create-member.js';
export { memberSettings } from './member-settings.js';
