import assert from 'node:assert/strict';
import { it } from 'node:test';
import { limitId, resumeCommand } from '@taintmgr/core/policy';

it('what opens a limit is one word in a shell, whatever the owner of its pods is called', () => {
  const cases = [
    ['eu/a', "kubectl taintmgr resume 'workload=eu/a'"],
    [
      "shop/Job/a'; reboot; '",
      String.raw`kubectl taintmgr resume 'workload=shop/Job/a'\''; reboot; '\'''`,
    ],
  ] as const;
  for (const [name, command] of cases) {
    assert.equal(resumeCommand(limitId({ per: 'workload', name })), command);
  }
});
