// Events about our controller and what it lives by: restarts, pauses, clocks, a slow API server.

import { formatDuration, type Instant, type Millis, parseDuration } from '@taintmgr/core/time';
import { type PolicyObject, readManifest } from '@taintmgr/k8s-adapter/kinds';
import { FaultyFile, type Field } from '@taintmgr/k8s-adapter/manifests';
import { apiVersion } from '../../../report/documents.ts';
import { nameOf } from '../input/names.ts';
import { type Stage, StageFault } from '../stage/stage.ts';
import { type ActionKind, type Members, onNodes, required, type ScriptAction } from './action.ts';
import { targetFields } from './targets.ts';

/** From the end of one process to when the next one has the lease: it is given up at the end. */
const restartMs: Millis = 5_000;
/** A leader that dies gives up nothing: its lease lasts 15 s, and others try every 2 s. */
const failoverMs: Millis = 17_000;

const pauseFields = ['scope', 'deadlines', 'readiness'] as const;
const pauseNameUsual = 'pause';

/** By the names of their fields. */
export const controllerActions: Readonly<Record<string, ActionKind>> = {
  restartController: {
    fields: [],
    read: () => stopped('the controller is restarted', 'the controller is back', restartMs),
  },
  failover: {
    fields: [],
    read: () => stopped('the leader of the controller dies', 'another leads', failoverMs),
  },
  pause: { fields: ['name', ...pauseFields], read: pause },
  resume: { fields: ['pause', 'limits'], read: resume },
  stepClock: { fields: [...targetFields, 'by'], read: stepClock },
  slowApi: { fields: ['delay'], read: slowApi },
};

function stopped(text: string, undoing: string, lastsUsual: Millis): ScriptAction {
  return {
    ...{ text, targets: null, lastsUsual, restarts: true },
    apply: ({ controller }) => controller.stop(),
    undo: { text: undoing, apply: ({ controller }) => controller.restart() },
  };
}

/** As an EvictionPause says it; `lasts` ends it. */
function pause(body: Field, members: Members): ScriptAction {
  const nameField = members.get('name');
  const name = nameField ? nameOf(nameField) : pauseNameUsual;
  const entries = pauseFields.flatMap((field) => {
    const member = members.get(field);
    return member ? [[field, member.value] as const] : [];
  });
  const spec = Object.fromEntries(entries);
  const manifest = { apiVersion, kind: 'EvictionPause', metadata: { name }, spec };
  pauseAt(body, manifest, 0);
  return {
    text: `pause evictions: ${name}`,
    targets: null,
    apply: ({ controller, cluster }) =>
      controller.apply(pauseAt(body, manifest, cluster.api.clock.now())),
    undo: { text: `end of pause ${name}`, apply: endPause(name) },
  };
}

/** The pause of a manifest that holds from `now`. Throws FaultyFile. */
function pauseAt(body: Field, manifest: object, now: Instant): PolicyObject {
  const judged = readManifest(manifest, now);
  if (judged.kind !== 'refused') return judged.value;
  // Their paths begin with `spec`, which here is the event itself; one says only that there are others.
  const faults = judged.faults
    .filter(({ path }) => path.length > 0)
    .map(({ path, text }) => {
      return body.faultAt(path.slice(1), text.replaceAll('spec.', `${body.path}.`)).message;
    });
  throw new FaultyFile(faults);
}

function endPause(name: string): (stage: Stage) => void {
  return ({ controller }) => {
    if (!controller.endPause(name)) throw new StageFault(`there is no pause ${name} at this time`);
  };
}

/** The end of a pause, or of limits that have tripped. */
function resume(body: Field, members: Members): ScriptAction {
  const [pauseField, limitsField] = [members.get('pause'), members.get('limits')];
  if ((pauseField === undefined) === (limitsField === undefined)) {
    throw body.fault('want one of pause, limits');
  }
  if (pauseField) {
    const name = nameOf(pauseField);
    return { text: `end pause ${name}`, targets: null, apply: endPause(name), undo: null };
  }
  const limits = limitsField ? limitsOf(limitsField) : null;
  return {
    text: `resume ${limits?.join(', ') ?? 'all limits'}`,
    targets: null,
    apply: ({ controller }) => controller.resume(limits),
    undo: null,
  };
}

/** `all`, or names such as `total policy=all`. */
function limitsOf(field: Field): readonly string[] | null {
  return field.value === 'all' ? null : field.items().map((item) => item.text());
}

const pattern = /^([+-]?)(.+)$/;

/** The clock of nodes, or where none are named of the machine of the controller. */
function stepClock(body: Field, members: Members): ScriptAction {
  const by = required(body, members, 'by');
  const [, sign, text = ''] = pattern.exec(String(by.value)) ?? [];
  const size = parseDuration(text);
  if (size === null || size === 0)
    throw by.fault('want a time such as 10m, or -10m to set it back');
  const millis = sign === '-' ? -size : size;
  const shown = `${millis < 0 ? '-' : '+'}${formatDuration(size)}`;
  if (targetFields.some((name) => members.has(name))) {
    const set = (value: Millis) => (stage: Stage, node: string) => stage.setClock(node, value);
    const verbs = [`set the clocks ${shown} of`, 'set right the clocks of'] as const;
    return onNodes(body, members, verbs, set(millis), set(0));
  }
  return {
    text: `the clock of the controller is set ${shown}`,
    targets: null,
    apply: ({ controller }) => controller.stepClock(millis),
    undo: {
      text: 'the clock of the controller is set right',
      apply: ({ controller }) => controller.stepClock(-millis),
    },
  };
}

/** Every request of the controller arrives late. */
function slowApi(body: Field, members: Members): ScriptAction {
  const ms = required(body, members, 'delay').duration();
  if (ms === 0) throw members.get('delay')?.fault('want a time such as 2s');
  return {
    text: `each request to the API server takes ${formatDuration(ms)} longer`,
    targets: null,
    apply: (stage) => stage.slowDown(ms),
    undo: { text: 'the API server is fast again', apply: (stage) => stage.speedUp(ms) },
  };
}
