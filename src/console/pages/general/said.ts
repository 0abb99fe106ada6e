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

/** A change of settings in the words of the forms. A setting that this version does not know is left out. */
export function settingsSaid(change: Record<string, unknown>): string {
  const inForms = Object.values(FORMS).flatMap(({ form }) => form.said(change))
  const others = Object.entries(change).filter(([name]) => name in OTHERS && name !== 'purchase_rules')
  return [...inForms, ...others.map(([name, value]) => `${OTHERS[name]}: ${words(value)}`)].join('; ')
}
