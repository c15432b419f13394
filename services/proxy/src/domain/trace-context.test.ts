import { readTraceParent } from './trace-context.js';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('readTraceParent', () => {
  it.each([
    `00-${traceId}-${spanId}-01`,
    ` 00-${traceId}-${spanId}-00 `,
    `cc-${traceId}-${spanId}-01-what-comes-later`,
  ])('reads %j, all 32 digits of the trace', (header) => {
    expect(readTraceParent(header)).toEqual({ traceId, spanId });
  });

  it.each([
    undefined,
    '',
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId.slice(1)}-${spanId}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01\n00-${traceId}-${spanId}-01`,
  ])('takes %j for none', (header) => {
    expect(readTraceParent(header)).toBeUndefined();
  });
});
