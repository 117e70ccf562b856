import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command, Option } from '@commander-js/extra-typings';
import { plainArguments } from '../../src/cli/arguments.ts';

// What kubectl's flags understand, commander's understand as well after this.

const program = new Command().option('-n, --namespace <name>', 'one');
program
  .command('drain')
  .option('--force', 'two')
  .option('--no-headers', 'three')
  .addOption(new Option('--dry-run [strategy]', 'four').preset('unchanged'))
  .option('--compare <version>', 'five');
const explain = program.command('explain');
const node = explain.command('node').argument('[names...]');
node.option('-o, --output <format>', 'eight');
explain.command('workload').argument('<kind>').argument('<name>');
explain.command('pod').alias('po').argument('<name>').option('-w, --watch', 'seven');
explain.command('zone').argument('<name>');
program.command('simulate').option('--compare', 'six');

describe('plainArguments', () => {
  const cases: readonly (readonly [line: string, expected: string])[] = [
    ['drain n1 --force', 'drain n1 --force'],
    ['drain --force=true n1', 'drain --force n1'],
    ['drain --force=false n1', 'drain n1'],
    ['drain --force=T n1', 'drain --force n1'],
    ['drain --no-headers=true', 'drain --no-headers'],
    ['drain --dry-run n1', 'drain --dry-run=unchanged n1'],
    ['drain --dry-run=server n1', 'drain --dry-run=server n1'],
    ['-n=shop drain', '-n shop drain'],
    ['-nshop drain', '-nshop drain'],
    ['--namespace=shop drain', '--namespace=shop drain'],
    ['drain a=b:NoExecute', 'drain a=b:NoExecute'],
    ['-n shop drain --compare=true', '-n shop drain --compare=true'],
    ['-n shop simulate --compare=true', '-n shop simulate --compare'],
    ['-n drain simulate --compare=true', '-n drain simulate --compare'],
    ['explain pod/web-0 -n shop', 'explain pod web-0 -n shop'],
    ['-n=shop explain po/web-0 --watch=true', '-n shop explain po web-0 --watch'],
    ['explain zone r1/zone-a', 'explain zone r1/zone-a'],
    ['explain nothing/web-0', 'explain workload nothing web-0'],
    ['explain deploy web -n shop', 'explain workload deploy web -n shop'],
    ['explain statefulset/db', 'explain workload statefulset db'],
    ['explain deployments.apps/web', 'explain workload deployments.apps web'],
    ['explain web deploy', 'explain workload deploy web'],
    ['explain -n shop n1 node', 'explain -n shop node n1'],
    ['explain pod node', 'explain pod node'],
    ['explain n1', 'explain workload node-or-pod n1'],
    ['explain -n deploy n1 -o json', 'explain -n deploy workload node-or-pod n1 -o json'],
    ['explain n1 n2', 'explain workload n1 n2'],
    ['explain N1', 'explain N1'],
    ['explain', 'explain'],
    ['drain n1 deploy', 'drain n1 deploy'],
    ['drain --unknown=true', 'drain --unknown=true'],
    ['drain -- --force=true', 'drain -- --force=true'],
  ];
  for (const [line, expected] of cases) {
    it(line, () => {
      assert.equal(plainArguments(line.split(' '), program).join(' '), expected);
    });
  }

  for (const value of ['maybe', '', 'constructor']) {
    it(`--force=${value}`, () => {
      assert.throws(() => plainArguments(['drain', `--force=${value}`], program), {
        message: `--force: got ${JSON.stringify(value)}, want true or false`,
      });
    });
  }
});
