// The choices that the chart and deploy/kustomize both have: components and the values that stand for them.

/** Values by the folder below deploy/kustomize/components. */
const components = {
  'node-lifecycle': { nodeLifecycle: { enabled: true } },
  'legacy-pods': { nodeLifecycle: { legacyPods: true } },
  'node-pressure': { nodePressure: { enabled: true, source: 'proxy' } },
  'node-pressure-kubelets': { nodePressure: { enabled: true, source: 'kubelet' } },
  'node-drains': { nodeDrains: { enabled: true } },
  'rollout-restart': { nodeDrains: { rolloutRestart: true } },
  'node-conditions': { nodeDrains: { nodeConditions: true } },
  volumes: { nodeDrains: { volumes: true } },
  'eviction-requests': { nodeDrains: { evictionRequests: true } },
  'device-taints': { deviceTaints: { enabled: true } },
  deletions: { policies: { deletions: true } },
  evictions: { policies: { evictions: true } },
  limits: { limits: { enabled: true } },
  takeover: { takeover: { enabled: true } },
  'takeover-repair': { takeover: { repair: true } },
  'guard-annotations': { guard: { enabled: true } },
  'network-policy': { networkPolicy: { enabled: true } },
} as const;

export type Component = keyof typeof components;

/** What each is of no use without. */
const base: Partial<Record<Component, Component>> = {
  'legacy-pods': 'node-lifecycle',
  'takeover-repair': 'takeover',
  'rollout-restart': 'node-drains',
  'node-conditions': 'node-drains',
  volumes: 'node-drains',
  'eviction-requests': 'node-drains',
};
/** What needs a mode that acts. */
const acting: readonly Component[] = [
  'takeover',
  'deletions',
  'evictions',
  'limits',
  'node-drains',
];

const modes = ['observe', 'delete', 'evict', 'evict-then-delete'] as const;
const all = Object.keys(components) as Component[];

/** A way to run it. */
export interface Way {
  readonly mode: (typeof modes)[number];
  readonly components: readonly Component[];
}

/** Each mode with nothing, with each component and what that needs, and with all that go together. */
export const ways: readonly Way[] = modes.flatMap((mode) => {
  const isPossible = (one: Component): boolean =>
    mode !== 'observe' || !acting.includes(base[one] ?? one);
  const possible = all.filter(isPossible);
  const together = (without: readonly Component[]): readonly Component[] =>
    possible.filter((one) => !without.includes(one));
  return [
    { mode, components: [] },
    ...possible.map((one) => ({ mode, components: [...(base[one] ? [base[one]] : []), one] })),
    { mode, components: together(['takeover', 'takeover-repair', 'node-pressure-kubelets']) },
    { mode, components: together(['node-lifecycle', 'legacy-pods', 'node-pressure']) },
  ];
});

/** What the guard refuses the account of the controller is nothing that it has to do. */
const guarded = ({ mode, components }: Way): Way => {
  return { mode, components: [...components, 'guard-annotations'] };
};

const chosen: readonly Way[] = [
  { mode: 'delete', components: [] },
  { mode: 'evict', components: [] },
  { mode: 'evict-then-delete', components: [] },
  { mode: 'observe', components: [] },
  { mode: 'delete', components: ['evictions'] },
  { mode: 'evict', components: ['deletions'] },
  { mode: 'delete', components: ['node-lifecycle'] },
  { mode: 'delete', components: ['limits'] },
  { mode: 'delete', components: ['node-drains'] },
  { mode: 'delete', components: ['node-drains', 'rollout-restart'] },
  { mode: 'delete', components: ['node-drains', 'node-conditions'] },
  { mode: 'delete', components: ['node-drains', 'volumes'] },
  { mode: 'delete', components: ['node-drains', 'eviction-requests'] },
  { mode: 'delete', components: ['takeover'] },
  { mode: 'evict', components: ['takeover'] },
  { mode: 'evict', components: ['takeover', 'takeover-repair'] },
  { mode: 'evict', components: ['takeover', 'device-taints'] },
];
/** Those that are run with the rights that they bring, beside the guard. */
export const worked: readonly Way[] = chosen.map(guarded);

/** The folders of deploy/kustomize that are chosen. */
export function foldersOf({ mode, components }: Way): readonly string[] {
  const folder = mode === 'evict-then-delete' ? 'evict-then-delete' : mode;
  return [`modes/${folder}`, ...components.map((one) => `components/${one}`)];
}

/** The values of the chart that are chosen. */
export function valuesOf({ mode, components: chosen }: Way): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = { mode };
  for (const one of chosen) {
    for (const [name, fields] of Object.entries(components[one])) {
      values[name] = { ...(values[name] as object | undefined), ...fields };
    }
  }
  return values;
}

/** `evict with takeover` */
export function titleOf({ mode, components }: Way): string {
  return components.length === 0 ? mode : `${mode} with ${components.join(', ')}`;
}
