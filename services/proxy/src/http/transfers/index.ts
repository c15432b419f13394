export { readObject, writeObject, type ReadObject, type WriteObject } from './grants.js';
export { createObjectStore, type ObjectStore } from './object-store.js';
export { TransferFailure } from './transfer-failure.js';
