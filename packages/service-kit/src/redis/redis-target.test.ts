import { formatAddress, parseAddress } from './redis-target.js';

describe('an address', () => {
  it.each([
    ['redis-0.redis:6379', { host: 'redis-0.redis', port: 6379 }],
    ['127.0.0.1:1', { host: '127.0.0.1', port: 1 }],
    ['[::1]:6379', { host: '::1', port: 6379 }],
  ])('%s is read and written', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
    expect(formatAddress(address)).toBe(text);
  });

  it.each(['', 'redis', 'redis:', ':6379', 'redis:0', 'redis:65536', '::1:6379', '[redis]:1', 'a b:1', 'u:p@redis:1'])(
    '%j is none',
    (text) => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );
});
