import { fromTo } from '../../form'
import type { Difference } from '../../ui/differences'
import { asWords, labelOf, modeWord, words } from '../../ui/format'
import { CHANGED_KEY } from '../api-keys/form'
import { CHANGED_CONNECTION } from '../connections/connect'
import { FEATURE } from '../features/form'
import { CONNECTION } from '../sso-settings/fields'

/*
 * Which fields an entry of the audit log says were changed: each with its value before, where the entry has it, and after.
 */

/** The details of an entry. */
export type Details = Record<string, unknown>

const LABELS = new Map<string, string>(CHANGED_CONNECTION.labels)

/** Of a project, a connection or an endpoint. */
export function fieldsSaid({ before = {}, ...after }: Details): Difference[] {
  return Object.entries(after).flatMap(([name, value]) => {
    const label = LABELS.get(name) || labelOf(name)
    return fromTo(label, [(before as Details)[name], value], (one) => fieldWords(name, one))
  })
}

function fieldWords(name: string, value: unknown): string {
  if (typeof value === 'boolean') return name === 'livemode' ? modeWord(value) : value ? 'on' : 'off'
  return /^stat(e|us)$/.test(name) ? asWords(words(value)) : words(value)
}

/** Of a feature, in the words of its form. */
export function featureSaid({ name, combine, before = {} }: Details): Difference[] {
  return FEATURE.said({ name, combine }, before as Details)
}

/** Of an API key. */
export function keySaid({ before = {}, expires_at, ...fields }: Details): Difference[] {
  const was = before as Details
  const end = (value: unknown) => (value === null ? 'never' : words(value))
  return [...CHANGED_KEY.said(fields, was), ...fromTo('Expires', [was.expires_at, expires_at], end)]
}

/** Of a single sign-on connection. Of a long list, an entry has the beginning alone. */
export function ssoSaid({ before = {}, ...after }: Details): Difference[] {
  const was = before as Details
  const { domain_ids: _, client_secret, claims, enforce, ...fields } = after
  const claim = (of: unknown, name: string) => (of as Details | undefined)?.[name]
  return [
    ...CONNECTION.said(fields, was),
    ...fromTo('Client secret', [undefined, client_secret], words),
    ...fromTo('Email domains', [was.domain_ids, after.domain_ids], words),
    ...fromTo('Email claim', [claim(was.claims, 'email'), claim(claims, 'email')], words),
    ...fromTo('Name claim', [claim(was.claims, 'name'), claim(claims, 'name')], words),
    ...fromTo('Enforced', [was.enforce, enforce], (value) => fieldWords('enforce', value)),
  ]
}
