/** What a code of an event's error means. `{vendor}` stands for the vendor's name. */
type Meaning = {
  what: string
  /** What the reader can do about it. */
  todo: string
  /** Whether another attempt at the same payload may succeed. */
  mayPass: boolean
}

/**
 * Every reason for which an attempt at processing an event fails: `last_error_code`, and what the console says of it.
 * docs/concepts/webhooks.md lists them, and a test compares the two.
 */
const MEANINGS = {
  vendor_unknown: {
    what: 'This version of the service does not know the vendor of the connection.',
    todo: 'The deployment was probably rolled back to an older version. Replay the event when the newer version runs again.',
    mayPass: true,
  },
  payload_gone: {
    what: 'The payload was deleted, because its retention period has ended or its consumer was erased.',
    todo: 'The event cannot be processed again. If you need its effects, ask the vendor to send it again.',
    mayPass: false,
  },
  payload_invalid: {
    what: 'The payload is not a valid event from {vendor}.',
    todo: 'Check that the connection is for the vendor that really sends to it, and that no proxy changes the body. Compare the payload with the log of {vendor}, and send the event again from there. A replay of this payload fails in the same way.',
    mayPass: false,
  },
  object_id_invalid: {
    what: 'The id of the object in the payload is too long, or has characters that no vendor uses in ids.',
    todo: 'Compare the payload with the log of the vendor. If the vendor did not send it, someone else knows the signing secret: rotate it. A replay fails in the same way.',
    mayPass: false,
  },
  object_too_large: {
    what: 'The object in the payload is larger than a billing object may be in this service.',
    todo: 'A replay fails in the same way. If the vendor sends such objects regularly, give the ID of the event to the operator of this deployment.',
    mayPass: false,
  },
  object_busy: {
    what: 'Other events of the same object were being processed at the same moment.',
    todo: 'Replay the event. Nothing is wrong with it.',
    mayPass: true,
  },
  effects_rejected: {
    what: 'The database did not accept what the event would change.',
    todo: 'Replay the event. If it fails in the same way, give its ID to the operator of this deployment.',
    mayPass: true,
  },
  vendor_failed: {
    what: 'The event contains only the ID of an object, and {vendor} did not return that object.',
    todo: 'The service asks again automatically. If all attempts have failed, replay the event once {vendor} works again.',
    mayPass: true,
  },
  vendor_key_refused: {
    what: 'The event contains only the ID of an object, and {vendor} does not let the connection’s API key read it.',
    todo: 'Set an API key that can read the object. The event is then processed automatically.',
    mayPass: true,
  },
  worker_died: {
    what: 'The workers that processed the event stopped before they had finished.',
    todo: 'Replay the event once. If it fails in the same way, the event itself may be what stops them: give its ID to the operator of this deployment.',
    mayPass: true,
  },
  internal_error: {
    what: 'An unexpected error occurred in this service. The event did not cause it.',
    todo: 'Give the ID of the event to the operator of this deployment, and replay the event when the error is fixed.',
    mayPass: true,
  },
} as const satisfies Record<string, Meaning>

/** Of an error from before codes were recorded. */
const UNKNOWN: Meaning = {
  what: 'The last attempt failed.',
  todo: 'Replay the event. If it fails in the same way, give its ID to the operator of this deployment.',
  mayPass: true,
}

export type EventErrorCode = keyof typeof MEANINGS
export const EVENT_ERROR_CODES = Object.keys(MEANINGS) as [EventErrorCode, ...EventErrorCode[]]

/** Why an attempt failed. `message` is what happened to this event; people read it, and no code depends on it. */
export type EventError = { code: EventErrorCode; message: string }

/** The reason why an attempt failed: its code, and what happened to this event. */
export function fail(code: EventErrorCode, message: string): EventError {
  return { code, message }
}

/**
 * What an error of processing means and what to do.
 *
 * @param code null for an error from before codes were recorded. One that a newer version recorded may be unknown here.
 * @param vendor the vendor's brand name
 */
export function eventAdvice(code: EventErrorCode | null, vendor: string): Meaning {
  const { what, todo, mayPass } = code === null ? UNKNOWN : (MEANINGS[code] ?? UNKNOWN)
  return { what: what.replaceAll('{vendor}', vendor), todo: todo.replaceAll('{vendor}', vendor), mayPass }
}
