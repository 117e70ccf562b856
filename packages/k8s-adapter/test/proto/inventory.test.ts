import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Identity, identityOf, sharedText } from '../../src/proto/convert.ts';
import { Inventory } from '../../src/proto/inventory.ts';

function object(name: string, uid: string, resourceVersion: string): object {
  return { metadata: { namespace: 'shop', name, uid, resourceVersion } };
}

function identity(name: string, uid: string, resourceVersion: string): Identity {
  return { namespace: 'shop', name, uid, resourceVersion };
}

function inventory(): Inventory<string> {
  return new Inventory((value) => {
    const found = identityOf(value);
    return found && `${found.name} ${found.uid} at ${found.resourceVersion}`;
  });
}

const upsert = (item: string): object => ({ kind: 'upsert', item, listed: true });

describe('a list that is told early', () => {
  it('tells each object as it comes, and nothing more at its end', () => {
    const known = inventory();
    known.beginList(true);
    assert.deepEqual(known.addPage([object('a', '1', '5'), object('b', '2', '6')]), [
      upsert('a 1 at 5'),
      upsert('b 2 at 6'),
    ]);
    assert.equal(known.reportsEarly, true);
    assert.deepEqual(known.endList(), []);
    assert.equal(known.size, 2);
  });

  it('tells what goes before its end, and what comes in its place', () => {
    const known = inventory();
    known.beginList(true);
    known.addListed(identity('a', '1', '5'), object('a', '1', '5'));
    assert.deepEqual(known.addListed(identity('a', '2', '6'), object('a', '2', '6')), [
      { kind: 'delete', name: 'a', uid: '1' },
      upsert('a 2 at 6'),
    ]);
    assert.deepEqual(known.dropListed(identity('a', '2', '7')), [
      { kind: 'delete', name: 'a', uid: '2' },
    ]);
    assert.equal(known.size, 0);
  });

  it('that broke off is followed by one that tells the difference at its end', () => {
    const known = inventory();
    known.beginList(true);
    known.addPage([object('a', '1', '5'), object('b', '2', '6'), object('c', '3', '6')]);
    known.beginList(true);
    assert.equal(known.reportsEarly, false);
    assert.deepEqual(known.addPage([object('b', '2', '6'), object('c', '3', '9')]), []);
    assert.deepEqual(known.endList(), [
      { kind: 'delete', name: 'a', uid: '1' },
      upsert('c 3 at 9'),
    ]);
  });

  it('takes nothing of a page in which something is no object', () => {
    const known = inventory();
    known.beginList(true);
    assert.equal(known.addPage([object('a', '1', '5'), { kind: 'Pod' }]), null);
    assert.equal(known.size, 0);
  });
});

describe('a shared text', () => {
  it('is the text that was given, however many others there are', () => {
    for (let at = 0; at < 10_000; at++) assert.equal(sharedText(`text ${at}`), `text ${at}`);
    const long = 'x'.repeat(1000);
    assert.equal(sharedText(long), long);
  });
});
