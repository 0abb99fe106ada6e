import { MAX_LISTED } from '../../notices/limits'
import type { StateKind } from '../../vendors/kinds'
import type { CountedStates, newVersionOf, UnknownWord, Vanished } from './findings'
import { mondayOf } from './weeks'

/** The kinds as sentences call them. */
export const KIND_WORDS: Record<StateKind, string> = {
  subscription: 'subscriptions',
  invoice: 'invoices',
  payment_method: 'payment methods',
  customer: 'customers',
}

/** A version as sentences call it. */
export const versionWords = (api_version: string) =>
  api_version === '' ? 'events without a version' : `version ${api_version}`

const whereWords = ({ api_version, week }: CountedStates) =>
  week === null ? versionWords(api_version) : `the week of ${mondayOf(week)}`

/** A sentence about a vanished field. */
export function vanishedWords({ kind, field, before, after }: Vanished): string {
  const had = before.fields[field] ?? 0
  return `${field} of ${KIND_WORDS[kind]} has vanished: ${had.toLocaleString('en')} of ${before.events.toLocaleString('en')} had it in ${whereWords(before)}, and none of ${after.events.toLocaleString('en')} in ${whereWords(after)}.`
}

/** A sentence about an unknown word. */
export function wordWords({ kind, field, word, states }: UnknownWord): string {
  return `The ${field} “${word}” of ${KIND_WORDS[kind]} is unknown. In recent weeks, ${states === 1 ? 'one object' : `${states.toLocaleString('en')} objects`} had it.`
}

/** A sentence about a new version. */
export function newVersionWords({ version, before }: NonNullable<ReturnType<typeof newVersionOf>>): string {
  return `The vendor now sends ${versionWords(version.api_version)}. Before, it sent ${versionWords(before.api_version)}.`
}

/** The health reason for a connection with vanished fields, given as `kind.field`. */
export function vanishedReason(name: string, vanished: readonly string[]): string {
  const shown = vanished.slice(0, MAX_LISTED)
  const more = vanished.length > shown.length ? ` and ${vanished.length - shown.length} more` : ''
  return `events of the connection ${name} no longer set fields that they used to set (${shown.join(', ')}${more}): see Format on the page of the connection`
}
