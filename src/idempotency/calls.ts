/**
 * A call that takes the header Idempotency-Key.
 *
 * `in`: the database of the batch that makes its object, in which the key is kept too. `repeat`: what the second request with the
 * key gets: the object as it is then; the object with a new secret, or a refusal where that secret may be in use; or always a refusal.
 */
type IdempotentCall = { in: 'store' | 'directory'; repeat: 'object' | 'new_secret' | 'refusal' }

const OBJECT: IdempotentCall = { in: 'store', repeat: 'object' }
const OF_DIRECTORY: IdempotentCall = { in: 'directory', repeat: 'object' }

/**
 * Every call that takes the header, by its operation id: the POSTs that create, rotate, resend or replay something. The route of each
 * says in `repeated` how to answer a repeat. Any other POST refuses the header.
 */
export const IDEMPOTENT_CALLS: Readonly<Record<string, IdempotentCall>> = {
  mintApiKey: { in: 'store', repeat: 'new_secret' },
  rotateApiKey: { in: 'store', repeat: 'new_secret' },
  rotateDevice: { in: 'store', repeat: 'new_secret' },
  createProject: OF_DIRECTORY,
  createInvitation: OF_DIRECTORY,
  resendInvitation: OF_DIRECTORY,
  addDomain: OF_DIRECTORY,
  createSsoConnection: OF_DIRECTORY,
  createConsumer: OBJECT,
  createPlan: OBJECT,
  createGrant: OBJECT,
  rotateEntitlementKey: OBJECT,
  createConnection: OBJECT,
  addSigningSecret: OBJECT,
  startImport: OBJECT,
  replayWebhookEvents: OBJECT,
  replayWebhookEvent: OBJECT,
  createWebhookEndpoint: OBJECT,
  addWebhookSecret: OBJECT,
  resendWebhookDelivery: OBJECT,
  resendWebhookChanges: OBJECT,
}
