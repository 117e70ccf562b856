// Libraries that few commands need: each is a file of its own, for all bundles.

export const seldomLibraries: readonly string[] = ['jsonpath-plus', 'log-update', 'yaml'];
