/** The controllers there are, by kube-controller-manager's names. */
export const controllerNames = [
  'taint-eviction-controller',
  'node-lifecycle-controller',
  'node-drain-controller',
  'node-pressure-controller',
  'device-taint-eviction-controller',
] as const;

export type ControllerName = (typeof controllerNames)[number];

/** Controllers that run only where they are named; `*` leaves them out. */
const disabledByDefault: readonly ControllerName[] = [
  'node-pressure-controller',
  'device-taint-eviction-controller',
];

/** Names of former days. */
const aliases: Readonly<Record<string, ControllerName>> = {
  nodelifecycle: 'node-lifecycle-controller',
};

/** The controllers that run. */
export interface ChosenControllers {
  readonly enabled: readonly ControllerName[];
  /** Controllers that do not run, for kube-controller-manager's warning about them. */
  readonly disabled: readonly ControllerName[];
}

/** Reads --controllers as kube-controller-manager does. The name it does not know, if there is one. */
export function chooseControllers(names: readonly string[]): ChosenControllers | string {
  const known = new Set<string>(['*', ...controllerNames]);
  const unknown = names.find((name) => name === '-*' || !known.has(canonical(withoutDash(name))));
  if (unknown !== undefined) return withoutDash(unknown);
  return {
    enabled: controllerNames.filter((name) => isEnabled(name, names)),
    disabled: controllerNames.filter((name) => !isEnabled(name, names)),
  };
}

/** Tells whether a controller runs where this is chosen: what names it first decides, else `*` does. */
function isEnabled(controller: ControllerName, names: readonly string[]): boolean {
  const choice = names.find((name) => canonical(withoutDash(name)) === controller);
  if (choice !== undefined) return !choice.startsWith('-');
  return names.includes('*') && !disabledByDefault.includes(controller);
}

function canonical(name: string): string {
  return (Object.hasOwn(aliases, name) && aliases[name]) || name;
}

function withoutDash(name: string): string {
  return name.replace(/^-/, '');
}
