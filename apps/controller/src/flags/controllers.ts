/** The controllers there are, by kube-controller-manager's names. */
export const controllerNames = ['taint-eviction-controller', 'node-lifecycle-controller'] as const;

export type ControllerName = (typeof controllerNames)[number];

/** Names of former days. */
const aliases: Readonly<Record<string, ControllerName>> = {
  nodelifecycle: 'node-lifecycle-controller',
};

/** Which controllers run. */
export interface ChosenControllers {
  readonly enabled: readonly ControllerName[];
  /** Controllers that do not run, for kube-controller-manager's warning about them. */
  readonly disabled: readonly ControllerName[];
}

/**
 * Reads --controllers as kube-controller-manager does: the first entry that names a controller
 * decides, else '*' does. The name it does not know, where there is one.
 */
export function chooseControllers(names: readonly string[]): ChosenControllers | string {
  const canonical = names.map((name) => {
    const bare = withoutDash(name);
    return name.replace(bare, aliases[bare] ?? bare);
  });
  const known = new Set<string>(['*', ...controllerNames]);
  const index = canonical.findIndex((name) => !known.has(withoutDash(name)) || name === '-*');
  if (index >= 0) return withoutDash(names[index] ?? '');
  const isEnabled = (controller: ControllerName): boolean => {
    const choice = canonical.find((name) => withoutDash(name) === controller);
    return choice === undefined ? canonical.includes('*') : choice === controller;
  };
  return {
    enabled: controllerNames.filter(isEnabled),
    disabled: controllerNames.filter((controller) => !isEnabled(controller)),
  };
}

function withoutDash(name: string): string {
  return name.replace(/^-/, '');
}
