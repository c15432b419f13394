export { a2aRoute } from './a2a-route.js';
export { agentCard } from './agent-card.js';
