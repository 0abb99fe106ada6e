/** How events link a vendor's customers to consumers. */
export type LinkSettings = {
  /** Whether claims that a buyer may have chosen are recorded. */
  link_hints: boolean
  /** The keys of metadata or custom data that hold the external id of a consumer, the most important one first. */
  consumer_keys: string[]
}

/** The settings that the project's store decides, because they are read there. */
export type StoreSettings = LinkSettings & {
  /** How many active devices each consumer can have, unless `devices_feature` says so. */
  max_devices: number
  /** The key of the quantity feature that says how many active devices a consumer can have; null: `max_devices` says so. */
  devices_feature: string | null
  /** How long a subscription that is past due still gives access (days); null: as long as the vendor says that it is past due. */
  grace_days: number | null
  /** How long a subscription gives access after its period, until the event about the renewal is here (hours). */
  renewal_slack_hours: number
  /** Whether subscriptions in a vendor's test mode give access. */
  test_mode_counts: boolean
}

/** What can be set for a project. */
export type Settings = StoreSettings & {
  /**
   * Whether admins and owners must have used a passkey or a recovery code in their session. The directory decides, because
   * sessions are read there.
   */
  require_passkey: boolean
  /** Single sign-on connections of other projects whose sessions act in this one too. The directory decides, as above. */
  trusted_connections: string[]
}

/** The settings that the directory decides. */
export const OF_DIRECTORY = ['require_passkey', 'trusted_connections'] as const
export type DirectoryChange = { [Name in (typeof OF_DIRECTORY)[number]]?: Settings[Name] | undefined }

/** The settings to change; the others stay. */
export type SettingsChange = { [Name in keyof Settings]?: Settings[Name] | undefined }

/** A change of the settings that the store decides. */
export type StoreChange = Omit<SettingsChange, keyof DirectoryChange>

export const DEFAULTS = {
  require_passkey: false,
  trusted_connections: [],
  link_hints: true,
  consumer_keys: ['consumer_external_id'],
  max_devices: 100,
  devices_feature: null,
  grace_days: 7,
  renewal_slack_hours: 48,
  test_mode_counts: false,
} satisfies Settings

/** The settings of a project, with the defaults of those that were never set. */
export function settingsOf(stored: Partial<Settings> | null): Settings {
  return { ...DEFAULTS, ...stored }
}

/** Only the settings that the store decides. */
export function ofStore({ require_passkey, trusted_connections, ...rest }: SettingsChange): StoreChange {
  return rest
}

/** Only the settings that the directory decides. */
export function ofDirectory({ require_passkey, trusted_connections }: SettingsChange): DirectoryChange {
  return {
    ...(require_passkey !== undefined && { require_passkey }),
    ...(trusted_connections !== undefined && { trusted_connections }),
  }
}
