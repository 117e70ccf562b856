/** Numbers of things in words: `1 pod`, `2 pods`. */
export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
