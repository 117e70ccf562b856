import { formatTaint, type LifecycleReport, type NodeCommand } from '@taintmgr/core';
import { describeHold, describeLifecycleReason } from '@taintmgr/core/lifecycle';
import { formatTime } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';
import { errorOf, fieldsOf, formatWait, type Line, line, podFields } from './line.ts';

/** Log lines about nodes and zones. `now` is for times given as a wait. */
export function lifecycleLine(report: LifecycleReport, now: number): Line {
  switch (report.kind) {
    case 'zone': {
      const { name, state, ready, notReady, rate } = report.zone;
      const fields = { zone: name, from: report.from, to: state ?? 'none', ready, notReady, rate };
      const level = state === 'Normal' || state === 'Initial' ? 'info' : 'warn';
      return line(level, 'zone state changed', fields);
    }
    case 'zoneHold': {
      const { zone, hold, deadlines } = report;
      const paused = deadlines === null ? {} : { deadlines };
      if (hold === null) return line('info', 'zone is no longer held', { zone, ...paused });
      const fields = { zone, because: describeHold(hold), ...paused };
      return line('warn', 'zone is held: no nodes are tainted', fields);
    }
    case 'readinessHold': {
      const { hold } = report;
      if (hold === null) return line('info', 'readiness is no longer held', {});
      const { reason, all, zones, nodes } = hold;
      const of = all ? { nodes: 'all' } : { zones: zones.join(), nodes: nodes.length };
      return line('warn', 'readiness is held: pods are not marked not ready', { ...of, reason });
    }
    case 'nodeUnreachable': {
      const since = formatTime(report.heardAt);
      return line('warn', 'node is unreachable', { node: report.node.name, since });
    }
    case 'writeFailed': {
      const { node, write, outcome, at } = report;
      const fields = {
        node: node.name,
        write,
        next: formatWait(at - now),
        error: errorOf(outcome),
      };
      return line('warn', 'could not write to a node, will try again', fields);
    }
    case 'podMarkFailed': {
      const { target, attempt, outcome, at } = report;
      const what = 'could not mark a pod of an unreachable node not ready, will try again';
      const next = formatWait(at - now);
      return line('warn', what, { ...podFields(target), attempt, next, error: outcome.message });
    }
    case 'ruleDryRun': {
      const { node, rule, change } = report;
      return line('info', 'dry run: rule would change a taint', { node: node.name, rule, change });
    }
    case 'ruleLimit': {
      const fields = { node: report.node.name, rule: report.rule };
      return line('warn', 'rule has reached its limit of tainted nodes', fields);
    }
  }
}

const written = {
  changeTaints: 'changed taints of a node',
  setNodeConditions: 'set conditions of a node',
  setNodeLabels: 'set labels of a node',
  markPodNotReady: 'marked a pod of an unreachable node not ready',
  markPodLost: 'marked a pod of an unreachable node for deletion',
} as const;

/** The line of the log about a write to a node, or to a pod on its account; failures are reported. */
export function nodeWriteLine({
  command,
  outcome,
  took,
}: Extract<Notice, { kind: 'nodeWriteFinished' }>): Line {
  const target = 'node' in command ? { node: command.node.name } : podFields(command.pod);
  const fields = { ...target, ...taintFields(command), took: `${Math.round(took)}ms` };
  if (outcome.kind === 'done') return line('info', written[command.kind], fields);
  return line('debug', `${command.kind} ${outcome.kind}`, { ...fields, error: errorOf(outcome) });
}

function taintFields(command: NodeCommand): Line['fields'] {
  if (command.kind !== 'changeTaints') return {};
  const { add, remove, because } = command;
  const reasons = because.map(describeLifecycleReason).join('; ');
  return fieldsOf({
    ...(add.length > 0 && { add: add.map(formatTaint).join(',') }),
    ...(remove.length > 0 && {
      remove: remove.map(({ key, effect }) => `${key}:${effect}`).join(','),
    }),
    ...(reasons !== '' && { because: reasons }),
  });
}
