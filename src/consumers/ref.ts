import { Fault, malformedInPath } from '../lib/fault'
import { idPattern } from '../lib/ids'
import { MAX_EXTERNAL_ID } from './limits'

/** How a call names a consumer: by our id, or by the project's own. */
export type ConsumerRef = { id: string } | { external_id: string }

/** A consumer of a project, as a call names it. */
export type NamedConsumer = { project_id: string; ref: ConsumerRef }

/** What stands before an external id where a consumer can be named by either id. */
export const EXTERNAL = 'ext:'

const BEGINNINGS = `csm_|${EXTERNAL}`
/** How every name of a consumer begins. Without it, an external id would read as an unknown consumer. */
export const NAMES_CONSUMER = new RegExp(`^(${BEGINNINGS})`)
/** An external id. It cannot begin like the two forms that name a consumer. */
export const EXTERNAL_ID = new RegExp(`^(?!${BEGINNINGS})[A-Za-z0-9._:@|+-]{1,${MAX_EXTERNAL_ID}}$`)
export const EXTERNAL_ID_RULE = `must have 1 to ${MAX_EXTERNAL_ID} letters, digits or characters of . _ : @ | + -, and must not begin with csm_ or ${EXTERNAL}`

const ID = idPattern('csm')

/** The consumer that a text names: `csm_…`, or `ext:` and the external id. Null if it can name none. No I/O. */
export function refOf(text: string): ConsumerRef | null {
  if (ID.test(text)) return { id: text }
  const external_id = text.startsWith(EXTERNAL) ? text.slice(EXTERNAL.length) : ''
  return EXTERNAL_ID.test(external_id) ? { external_id } : null
}

/**
 * The consumer that a call changes. A mistake in an external id is named, because the caller may be about to use it.
 *
 * @throws {Fault} `not_found`, `validation_failed`
 */
export function refToChange(text: string): ConsumerRef {
  const ref = refOf(text)
  if (ref) return ref
  if (!text.startsWith(EXTERNAL)) {
    throw new Fault('not_found', `Use the id of the consumer (csm_…), or ${EXTERNAL} and your own id.`)
  }
  throw malformedInPath('external id', EXTERNAL_ID_RULE)
}

/** As {@link refToChange}, where only the external id can name the consumer. */
export function externalIdIn(text: string): string {
  const ref = refToChange(text)
  if ('external_id' in ref) return ref.external_id
  throw new Fault('not_found', `Use ${EXTERNAL} and your own id for the consumer.`)
}

/** The consumer that the path of a read names. A name that is neither is read like an unknown id. */
export function refToRead(name: string): ConsumerRef {
  return refOf(name) ?? { id: name }
}
