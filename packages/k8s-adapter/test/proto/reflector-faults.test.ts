import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Follower, modes } from '../world/reflector/follower.ts';
import { play } from '../world/reflector/reflector-case.ts';
import { cases } from '../world/reflector/reflector-cases.ts';
import { delayed } from '../world/reflector/troubled-lines.ts';

for (const [what, mode] of modes) {
  describe(`reflector with ${what}`, () => {
    for (const given of cases) it(given.name, () => play(given, mode));

    const when: [string, (follower: Follower) => void][] = [
      ['before its first list is there', () => {}],
      ['while it watches', (follower) => follower.run(60_000)],
      [
        'while it waits',
        (follower) => {
          follower.run(1000);
          follower.api.faults.down = true;
        },
      ],
    ];
    for (const [name, before] of when) {
      it(`tells nothing after it was stopped ${name}`, () => {
        const follower = new Follower(mode);
        follower.leases.create();
        follower.line = delayed(follower.clock, 50);
        follower.start();
        before(follower);
        follower.feed({ kind: 'stop' });
        const told = follower.told.length;
        follower.leases.churn();
        follower.run(600_000);
        assert.equal(follower.told.length, told);
        assert.equal(follower.reflector.nextWake(), null);
      });
    }

    it('tells nothing that stands behind the event on which it was stopped', () => {
      const follower = new Follower(mode);
      follower.start();
      follower.run(1000);
      for (let n = 0; n < 10; n++) follower.leases.create();
      const told = follower.told.length;
      follower.feed({ kind: 'stop' });
      for (let n = 0; n < 500; n++) follower.leases.create();
      assert.equal(follower.told.length, told);
    });

    it('remembers by bookmarks where it is, though nothing of its own changes', () => {
      const follower = new Follower(mode);
      follower.start();
      follower.leases.create();
      follower.run(1000);
      follower.api.compact();
      follower.run(120_000);
      follower.api.faults.breakStreams();
      follower.leases.create();
      follower.run(60_000);
      follower.assertComplete();
      assert.equal(follower.lists, 1);
    });
  });
}
