// All that it takes to answer once the cluster is read: the engine, reports, notes, and how they are printed.
export { printAnswer } from '../../render/printer.ts';
export { Explainer } from '../../report/explainer.ts';
export { notesOn, writeNotes } from '../../report/notes.ts';
export { podsIn, reportOn } from '../../report/report.ts';
