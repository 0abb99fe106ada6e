import type { Configuration } from 'oidc-provider'

/** What oidc-provider needs to answer for people as our connections ask: the claims, and everybody's consent. */
export const SETTINGS: Configuration = {
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  features: { devInteractions: { enabled: false } },
  async loadExistingGrant({ oidc }) {
    const { client, session, provider } = oidc
    const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
    grant.addOIDCScope('openid email profile')
    await grant.save()
    return grant
  },
}
