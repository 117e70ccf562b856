// Takes back what drains have set on nodes, or lists what can be: undo.
import { formatTaint } from '@taintmgr/core';
import { nodeDrainer } from '@taintmgr/core/drain';
import type { ApiClient } from '@taintmgr/k8s-adapter';
import { choicesText, UsageError } from '@taintmgr/k8s-adapter/command-line';
import {
  type DrainMark,
  type IsMeant,
  isMarkOf,
  isNamed,
  readMarks,
} from '@taintmgr/k8s-adapter/drain';
import {
  ClusterReader,
  drainsOn,
  type NodeDrainObject,
  type NodeFacts,
  namedNodes,
  type RuleObject,
  readNodeDrain,
  workOn,
} from '@taintmgr/k8s-adapter/survey';
import { readDryRun } from '../../cli/common-flags.ts';
import { withConnection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import { warn } from '../../cli/output.ts';
import type { Invocation } from '../../cli/registry.ts';
import { isObjectName } from '../../cli/values.ts';
import { type UndoOptions, undoOnNodes } from '../../cluster/change-node.ts';
import { ruleNameIn } from '../../cluster/device-rules.ts';
import { renderTable } from '../../render/table.ts';
import { markedRules, undoDeviceRule } from './device-rule.ts';
import { undoNodeDrain } from './node-drain.ts';

/** The command line of `undo`. */
export interface UndoFlags {
  readonly selector?: string | undefined;
  readonly dryRun: string;
}

/** `undo [DRAIN] [NODE...]`: takes back what a drain has set, or lists what can be. */
export async function run(
  invocation: Invocation<UndoFlags>,
  name: string | undefined,
  nodeNames: readonly string[],
): Promise<ExitCode> {
  const { flags, output } = invocation;
  const isDryRun = readDryRun(flags.dryRun, ['none', 'client'], output) === 'client';
  return await withConnection(invocation, async (connection) => {
    const rule = ruleNameIn(name ?? '');
    if (rule !== null) {
      refuseNodes(nodeNames, flags);
      return await undoDeviceRule({ ...connection, output, isDryRun }, rule);
    }
    const nodes = await namedNodes(new ClusterReader(connection.client), nodeNames, flags.selector);
    if (name === undefined) {
      const rules = await markedRules(new ClusterReader(connection.client));
      output.out(renderMarks(nodes, rules, output.widthOut));
      return exitCode.done;
    }
    const { client } = connection;
    const undo = { client, output, interrupt: invocation.interrupt, isDryRun };
    const isPart = nodeNames.length > 0 || flags.selector !== undefined;
    const plain = name.replace(/^(nodedrains?|ndrain)([.]taintmgr[.]dev)?\//, '');
    const marks = nodes.flatMap(({ annotations }) => readMarks(annotations));
    const named = marks.filter(isNamed(name)).filter(({ by }) => by === nodeDrainer);
    const drains = await nodeDrainsNamed(client, [plain], [plain, ...named.map(({ id }) => id)]);
    if (drains.length === 0 && plain !== name)
      throw new UsageError(nothingToUndo(plain, nodes, isPart));
    let isUndone = true;
    for (const drain of drains) {
      if (isPart) throw new UsageError(wholeOnly(drain));
      const here = nodes.filter(({ annotations }) =>
        readMarks(annotations).some(isMarkOf(drain.metadata.name)),
      );
      const code = await undoNodeDrain(undo, drain, here);
      if (code === exitCode.interrupted) return code;
      isUndone &&= code === exitCode.done;
    }
    const done = new Set(drains.map(({ metadata }) => metadata.name));
    const isMeant = (mark: DrainMark): boolean => !done.has(mark.id) && isNamed(name)(mark);
    const marked = nodes.filter(({ annotations }) => readMarks(annotations).some(isMeant));
    if (marked.length === 0 && done.size === 0) {
      const rules = await markedRules(new ClusterReader(client));
      if (rules.some(({ metadata }) => metadata.name === name)) {
        throw new UsageError(`${name} is a rule: kubectl taintmgr undo devicetaintrule/${name}`);
      }
      throw new UsageError(nothingToUndo(name, nodes, isPart));
    }
    if (done.has(plain)) return isUndone ? exitCode.done : exitCode.error;
    const options = { say: output.out, warn: (text: string) => warn(output, text), isDryRun };
    const names = await idleFirst(client, marked, isMeant, options);
    const failed = await undoOnNodes(client, names, isMeant, options);
    return isUndone && failed.length === 0 ? exitCode.done : exitCode.error;
  });
}

function refuseNodes(names: readonly string[], { selector }: UndoFlags): void {
  if (names.length === 0 && selector === undefined) return;
  throw new UsageError('a rule that taints devices is on no node: leave out the names of nodes');
}

/** The nodes, where no drain is at work first; where one is, that is said. */
async function idleFirst(
  client: ApiClient,
  marked: readonly NodeFacts[],
  isMeant: IsMeant,
  { warn: say, isDryRun }: UndoOptions,
): Promise<readonly string[]> {
  const works = await workOn(client, marked, isMeant);
  const then = `${isDryRun ? 'would stop' : 'stops'} there, and begins no node that is undone`;
  for (const { text } of works) say(`${text}: it ${then}`);
  const names = marked.map(({ node }) => node.name);
  const working = new Set(works.map(({ node }) => node));
  // A drain that stops on one node begins the next: the next must be undone by then.
  return [...names.filter((name) => !working.has(name)), ...working];
}

/** The existing NodeDrains of these names; where the first is one, that alone is meant. */
async function nodeDrainsNamed(
  client: ApiClient,
  [first = '']: readonly string[],
  names: readonly string[],
): Promise<readonly NodeDrainObject[]> {
  const found: NodeDrainObject[] = [];
  for (const name of new Set(names)) {
    const drain = isObjectName(name) ? await readNodeDrain(client, name) : null;
    if (drain && name === first) return [drain];
    if (drain) found.push(drain);
  }
  return found;
}

function wholeOnly({ metadata: { name } }: NodeDrainObject): string {
  return `drain ${name} is a NodeDrain, which is undone as a whole; take a node out of its spec.nodes to undo it there`;
}

function nothingToUndo(name: string, nodes: readonly NodeFacts[], isPart: boolean): string {
  const known = drainsOn(nodes).map(({ id }) => id);
  const where = isPart ? ' on these nodes' : '';
  const none = `there are no drains to undo${where}`;
  const list = known.length === 0 ? none : `drains${where}: ${choicesText(known)}`;
  return `no drain ${JSON.stringify(name)} found; ${list}`;
}

/** A line for each drain and node, and for each rule of taint-device. */
function renderMarks(
  nodes: readonly NodeFacts[],
  rules: readonly RuleObject[],
  width: number | null,
): string {
  const ofRules = rules.map(({ metadata, spec: { taint } }) => {
    const { key, value = '', effect } = taint;
    return [`devicetaintrule/${metadata.name}`, '-', formatTaint({ key, value, effect }), 'rule'];
  });
  const ofDrains = nodes.flatMap(({ node, annotations }) =>
    readMarks(annotations).map((mark) => [
      mark.by === nodeDrainer ? `nodedrain/${mark.id}` : mark.id,
      node.name,
      formatTaint(mark.taint),
      setBy(mark),
    ]),
  );
  const rows = [...ofDrains, ...ofRules];
  if (rows.length === 0) return 'No drains to undo.';
  return renderTable(['DRAIN', 'NODE', 'TAINT', 'CHANGES'], rows.sort(byText), { width });
}

function setBy({ tainted, cordoned }: DrainMark): string {
  return [...(cordoned ? ['cordon'] : []), ...(tainted ? ['taint'] : [])].join(', ') || 'nothing';
}

function byText(a: readonly string[], b: readonly string[]): number {
  return a.join(' ') < b.join(' ') ? -1 : 1;
}
