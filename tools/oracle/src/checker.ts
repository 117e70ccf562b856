/** One checker of promises: it judges by the evidence that all of them share. */
export class Checker<E> {
  protected readonly evidence: E;

  constructor(evidence: E) {
    this.evidence = evidence;
  }
}
