import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { libraryPaths, majorVersion, packageNames, wrapperScript } from './redis-binary.mjs';

describe('majorVersion', () => {
  it('reads what redis-server says', () => {
    expect(majorVersion('Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0')).toBe(7);
    expect(majorVersion('Redis server v=10.2.0 sha=1')).toBe(10);
    expect(majorVersion('true (GNU coreutils) 9.1')).toBe(0);
  });
});

describe('packageNames', () => {
  it('takes real packages once, without architecture', () => {
    const text = 'redis-tools\n  Depends: libc6\n    libc6\nlibc6\n<virtual>\nliblzf1:amd64\nlibc6\n';
    expect(packageNames(text)).toEqual(['redis-tools', 'libc6', 'liblzf1']);
  });
});

describe('libraryPaths', () => {
  it('takes the files and leaves what the kernel gives', () => {
    const text = [
      '\tlinux-vdso.so.1 (0x00007f4edd99e000)',
      '\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f4edd8a3000)',
      '\tliblzf.so.1 => not found',
      '\t/lib64/ld-linux-x86-64.so.2 (0x00007f4edd9a0000)',
    ].join('\n');
    expect(libraryPaths(text)).toEqual(['/lib/x86_64-linux-gnu/libm.so.6', '/lib64/ld-linux-x86-64.so.2']);
  });
});

describe('wrapperScript', () => {
  it('starts the program in its own place with its libraries and arguments', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley wrapper-'));
    try {
      mkdirSync(join(folder, 'files'));
      const program = '#!/bin/sh\necho "$$ $LD_LIBRARY_PATH"\nfor one; do echo "$one"; done\n';
      writeFileSync(join(folder, 'files', 'program'), program, { mode: 0o755 });
      const script = wrapperScript({ binary: 'files/program', libraryFolders: ['files/a', 'files/b'] });
      writeFileSync(join(folder, 'wrapper'), script, { mode: 0o755 });
      const lines = execFileSync('sh', ['-c', 'echo $$; exec "$0" "$@"', join(folder, 'wrapper'), 'one two', ''], {
        encoding: 'utf8',
      }).split('\n');
      const [pid = '', second, ...rest] = lines;
      // The same process id: a signal sent to it reaches the program.
      expect(second).toBe(`${pid} ${folder}/files/a:${folder}/files/b`);
      expect(rest).toEqual(['one two', '', '']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('starts the program with a loader of its own', () => {
    const script = wrapperScript({ binary: 'b', libraryFolders: ['l'], loader: 'l/ld.so' });
    expect(script).toContain('exec "$here/l/ld.so" --library-path "$here/l" "$here/b" "$@"');
  });
});
