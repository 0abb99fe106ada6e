import { fromTo } from '../../form'
import type { Difference } from '../../ui/differences'
import { words } from '../../ui/format'
import { FORMS, SETTING_PLACES } from './settings'

/** What settings are called that no form changes, or that a form asks about in several fields. */
const OTHERS: Record<string, string> = {
  trusted_connections: 'Trusted single sign-on connections of other projects',
  purchase_item_keys: 'Metadata keys that say what was bought',
  purchase_rules: 'Refunds and disputes of purchases',
}

/** What a setting is called in the forms, by its name in the API; undefined if this version does not know it. */
export function settingLabel(name: string): string | undefined {
  return OTHERS[name] ?? SETTING_PLACES.find(({ setting }) => setting === name)?.label
}

type Values = Record<string, unknown>

/**
 * A change of settings in the words of the forms. A setting that this version does not know is left out. So is one that was the same
 * `before`, unless all were: the change then only made them the project's own.
 */
export function settingsSaid({ before, ...after }: Values): Difference[] {
  const changed = before ? said(after, before as Values) : []
  return changed.length > 0 ? changed : said(after, {})
}

function said(after: Values, before: Values): Difference[] {
  const inForms = Object.values(FORMS).flatMap(({ form }) => form.said(after, before))
  const others = Object.entries(OTHERS).filter(([name]) => name !== 'purchase_rules')
  return [...inForms, ...others.flatMap(([name, label]) => fromTo(label, [before[name], after[name]], words))]
}
