export { EventHub, type EventHubOptions, RunEvents } from './event-hub.js';
export { DEFAULT_SUBSCRIPTION_CAPACITY, EventSubscription, type SubscriptionOptions } from './event-subscription.js';
