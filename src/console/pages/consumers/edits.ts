import type { ConsumerFields, ConsumerMetadata, Edit } from '../../../consumers/schema'
import type { Difference } from '../../ui/differences'
import { plural } from '../../ui/format'

/** What a project said about a consumer at some time. `metadata`: null if it was too long to be kept. */
type Said = Pick<Required<ConsumerFields>, 'email' | 'name'> & { metadata: ConsumerMetadata | null }

/** A change of a consumer, and what it changed. */
export type ShownEdit = Edit & { differences: Difference[] }

/** What each change changed, the newest first. A change only has what it replaced: the one after it, or `now`, has the new values. */
export function shownEdits(now: Said, edits: readonly Edit[]): ShownEdit[] {
  let after = now
  return edits.toReversed().map((edit) => {
    const before = { ...after, ...edit.was }
    const differences = [
      ...differing('Name', before.name, after.name),
      ...differing('Email address', before.email, after.email),
      ...(edit.was.metadata === undefined ? [] : inMetadata(before.metadata, after.metadata)),
    ]
    after = before
    return { ...edit, differences }
  })
}

function differing(what: string, from: string | null, to: string | null): Difference[] {
  return from === to ? [] : [{ what, from, to }]
}

function inMetadata(before: Said['metadata'], after: Said['metadata']): Difference[] {
  if (before === null || after === null) return [{ what: 'Metadata', from: sizeOf(before), to: sizeOf(after) }]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => differing(`Metadata ${key}`, before[key] ?? null, after[key] ?? null))
}

function sizeOf(metadata: Said['metadata']): string {
  return metadata === null ? 'too long to be kept' : plural(Object.keys(metadata).length, 'value')
}
