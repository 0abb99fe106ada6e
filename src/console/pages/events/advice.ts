/** An error of processing in words. */
export type Advice = {
  what: string
  /** What the reader can do about it. */
  todo: string
  /** Whether another attempt at the same payload may succeed. */
  mayPass: boolean
}

type Case = [pattern: RegExp, advice: (vendor: string) => Advice]

/** The errors that inbox/process and vendors/ write, and what to do about each. The first pattern that matches counts. */
const CASES: readonly Case[] = [
  [
    /^this version does not support the vendor/,
    () => ({
      what: 'This version of the service does not know the vendor of the connection.',
      todo: 'The deployment was probably rolled back to an older version. Replay the event when the newer version runs again.',
      mayPass: true,
    }),
  ],
  [
    /no longer kept/,
    () => ({
      what: 'The payload was deleted, because its retention period has ended or its consumer was erased.',
      todo: 'The event cannot be processed again. If you need its effects, ask the vendor to send it again.',
      mayPass: false,
    }),
  ],
  [
    /^worker_died|did not finish within its lease/,
    () => ({
      what: 'The workers that processed the event stopped before they had finished.',
      todo: 'Replay the event once. If it fails in the same way, the event itself may be what stops them: give its ID to the operator of this deployment.',
      mayPass: true,
    }),
  ],
  [
    /other workers kept changing/,
    () => ({
      what: 'Other events of the same object were being processed at the same moment.',
      todo: 'Replay the event. Nothing is wrong with it.',
      mayPass: true,
    }),
  ],
  [
    /billing objects? (is|are) too large/,
    () => ({
      what: 'The object in the payload is larger than a billing object may be in this service.',
      todo: 'A replay fails in the same way. If the vendor sends such objects regularly, give the ID of the event to the operator of this deployment.',
      mayPass: false,
    }),
  ],
  [
    /^the database rejected its effects/,
    () => ({
      what: 'The database did not accept what the event would change.',
      todo: 'Replay the event. If it fails in the same way, give its ID to the operator of this deployment.',
      mayPass: true,
    }),
  ],
  [
    /id of its billing object is not valid/,
    () => ({
      what: 'The id of the object in the payload is too long, or has characters that no vendor uses in ids.',
      todo: 'Compare the payload with the log of the vendor. If the vendor did not send it, somebody else knows the signing secret: rotate it. A replay fails in the same way.',
      mayPass: false,
    }),
  ],
  [
    /payload|bt_payload/,
    (vendor) => ({
      what: `The payload is not an event in the format of ${vendor}.`,
      todo: `Check that the connection is for the vendor that really sends to it, and that nothing on the way rewrites the body. Compare the payload with the log of ${vendor}, and send the event again from there. A replay of this payload fails in the same way.`,
      mayPass: false,
    }),
  ],
]

/** What an error of processing means and what to do. @param vendor the vendor's brand name */
export function adviceOn(error: string, vendor: string): Advice {
  const found = CASES.find(([pattern]) => pattern.test(error))
  if (found) return found[1](vendor)
  return {
    what: 'An unexpected error occurred in this service. The event did not cause it.',
    todo: 'Give the ID of the event to the operator of this deployment, and replay the event when the error is fixed.',
    mayPass: true,
  }
}
