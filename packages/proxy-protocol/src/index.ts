export * from './json/index.js';
export * from './client/index.js';
export * from './driver/index.js';
export * from './trajectory/index.js';
