import { AppError } from '@parley/service-kit';
import { checkAddress, classifyAddress } from './check-address.js';

describe('an address', () => {
  it.each([
    '169.254.169.254', '169.254.0.1', '100.100.100.200', '168.63.129.16', '0.0.0.0', '0.1.2.3', '224.0.0.1', '239.255.255.255',
    '240.0.0.1', '255.255.255.255', '::', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fd00:ec2::254', 'FD00:EC2:0:0:0:0:0:254',
    'ff02::1', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '0:0:0:0:0:ffff:a9fe:a9fe', '::169.254.169.254', '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1', '[::ffff:169.254.169.254]', '::ffff:0.0.0.0', '::ffff:224.0.0.1', 'not an address', '1.2.3', '',
  ])('%s is refused in any case', (address) => {
    expect(classifyAddress(address)).toBe('refused');
    expect(() => {
      checkAddress(address, { allowPrivateAddresses: true });
    }).toThrow(expect.objectContaining({ reason: 'forbidden', code: 'target_refused' }));
  }); // prettier-ignore

  it.each([
    '127.0.0.1', '127.255.0.1', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1', '::1', '[::1]', 'fd12::1',
    'fc00::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:7f00:1', '64:ff9b::a00:1',
  ])('%s is allowed unless private addresses are not', (address) => {
    expect(classifyAddress(address)).toBe('private');
    checkAddress(address, { allowPrivateAddresses: true });
    expect(() => {
      checkAddress(address, { allowPrivateAddresses: false });
    }).toThrow(AppError);
  }); // prettier-ignore

  it.each([
    '8.8.8.8',
    '172.32.0.1',
    '100.63.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ])('%s is public', (address) => {
    expect(classifyAddress(address)).toBe('public');
    checkAddress(address, { allowPrivateAddresses: false });
  });
});
