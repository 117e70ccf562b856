import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openPrivate } from '../../src/client/private-file.ts';

const isPosix = process.platform !== 'win32';
const { uid = 0 } = { uid: process.getuid?.() };
/** Whoever runs this is another user than the one with this number. */
const anotherUid = uid + 1;

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'private-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function write(name: string, text: string, us?: number): void {
  const descriptor = openPrivate(name, us);
  writeSync(descriptor, text);
  closeSync(descriptor);
}

/** A pipe that somebody reads. */
function pipe(t: TestContext, folder: string): { readonly name: string; readonly reader: number } {
  const name = path.join(folder, 'pipe');
  execFileSync('mkfifo', [name]);
  const reader = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  t.after(() => closeSync(reader));
  return { name, reader };
}

describe('a private file', { skip: !isPosix }, () => {
  it('that is a pipe of our own stays one', (t) => {
    const { name, reader } = pipe(t, temporaryFolder(t));
    write(name, 'seen', uid);
    const heard = Buffer.alloc(9);
    assert.equal(heard.toString('utf8', 0, readSync(reader, heard)), 'seen');
  });

  it('is no pipe of another user, also behind a link', (t) => {
    const folder = temporaryFolder(t);
    const { name } = pipe(t, folder);
    // Root reads all pipes, so one of root's is nobody else's.
    if (uid === 0) chownSync(name, anotherUid, anotherUid);
    const link = path.join(folder, 'link');
    symlinkSync(name, link);
    for (const place of [name, link]) {
      const us = uid === 0 ? uid : anotherUid;
      assert.throws(() => write(place, 'seen', us), {
        message: `${place} is a pipe of another user`,
      });
    }
  });

  it('that names an open one is that one', { skip: process.platform !== 'linux' }, (t) => {
    const file = path.join(temporaryFolder(t), 'out');
    const descriptor = openSync(file, 'w');
    t.after(() => closeSync(descriptor));
    write(`/proc/self/fd/${descriptor}`, 'first');
    write(`/dev/fd/${descriptor}`, 'then');
    assert.equal(readFileSync(file, 'utf8'), 'then');
  });
});
