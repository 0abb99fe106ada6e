import { type FeatureType, UNLIMITED } from '../../../catalog/values'
import { invalidField } from '../../../http/validate'

/** A value of a feature as people read it. */
export function shownValue(value: unknown): string {
  if (value === true) return 'on'
  if (value === false) return 'off'
  if (typeof value === 'number') return value.toLocaleString('en')
  return value === UNLIMITED ? UNLIMITED : JSON.stringify(value ?? null)
}

/** A value as the text of its field. The script is indented, because people read it. */
export function valueText(type: FeatureType, value: unknown): string {
  return type === 'config' ? JSON.stringify(value, null, 2) : String(value)
}

/**
 * What a text stands for. Whether it fits the feature is checked where it is stored.
 *
 * @param pointer to the field, for an error
 * @throws {Fault} `validation_failed` for a config that is not JSON
 */
export function valueIn(type: FeatureType, text: string, pointer: string): unknown {
  if (type === 'boolean') return true
  if (type === 'quantity') return /^\d+$/.test(text) ? Number(text) : text
  try {
    return JSON.parse(text)
  } catch {
    throw invalidField(pointer, 'malformed', 'must be JSON')
  }
}
