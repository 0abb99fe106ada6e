CREATE TABLE `sso_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`redirect_uri` text NOT NULL,
	`consumer_id` text NOT NULL,
	`created` integer NOT NULL,
	`identity_id` text NOT NULL,
	`identity` text NOT NULL,
	`expires_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sso_codes_expiry` ON `sso_codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `sso_connection_domains` (
	`project_id` text NOT NULL,
	`domain_id` text NOT NULL,
	`audience` text NOT NULL,
	`connection_id` text NOT NULL,
	PRIMARY KEY(`project_id`, `domain_id`, `audience`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sso_connection_domains_connection` ON `sso_connection_domains` (`project_id`,`connection_id`);--> statement-breakpoint
CREATE TABLE `sso_connections` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`audience` text NOT NULL,
	`name` text NOT NULL,
	`issuer` text NOT NULL,
	`client_id` text NOT NULL,
	`secret` text,
	`auth_method` text NOT NULL,
	`settings` text NOT NULL,
	`state` text NOT NULL,
	`revision` integer NOT NULL,
	`tested_revision` integer,
	`tested_at` integer,
	`last_used_at` integer,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	PRIMARY KEY(`project_id`, `id`),
	CONSTRAINT "sso_connections_deleted" CHECK("sso_connections"."deleted_at" IS NULL OR "sso_connections"."state" = 'disabled')
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `sso_connections_id` ON `sso_connections` (`id`);--> statement-breakpoint
CREATE TABLE `sso_identities` (
	`id` text NOT NULL,
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`user_id` text,
	`consumer_id` text,
	`email` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	PRIMARY KEY(`connection_id`, `issuer`, `subject`),
	CONSTRAINT "sso_identities_one" CHECK(("sso_identities"."user_id" IS NULL) <> ("sso_identities"."consumer_id" IS NULL))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sso_identities_consumer` ON `sso_identities` (`project_id`,`consumer_id`) WHERE consumer_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `sso_identities_user` ON `sso_identities` (`user_id`) WHERE user_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `sso_identities_id` ON `sso_identities` (`project_id`,`id`);--> statement-breakpoint
CREATE TABLE `sso_logins` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`mode` text NOT NULL,
	`state_hash` text,
	`browser_hash` text,
	`redirect_to` text NOT NULL,
	`app_state` text,
	`login_hint` text,
	`expires_at` integer NOT NULL,
	CONSTRAINT "sso_logins_browser" CHECK(("sso_logins"."state_hash" IS NULL) = ("sso_logins"."browser_hash" IS NULL))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `sso_logins_state` ON `sso_logins` (`state_hash`) WHERE state_hash IS NOT NULL;--> statement-breakpoint
CREATE TABLE `sso_tests` (
	`project_id` text NOT NULL,
	`connection_id` text NOT NULL,
	`id` text NOT NULL,
	`revision` integer NOT NULL,
	`state` text NOT NULL,
	`report` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `connection_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `members` ADD `break_glass` integer DEFAULT false NOT NULL CHECK (`break_glass` = 0 OR `role` = 'owner');--> statement-breakpoint
ALTER TABLE `projects` ADD `sso_enforced_by` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `connection_id` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `sso_project_id` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `sid` text;--> statement-breakpoint
CREATE TRIGGER `projects_break_glass` BEFORE UPDATE OF `sso_enforced_by` ON `projects`
WHEN NEW.`sso_enforced_by` IS NOT NULL AND NOT EXISTS (
	SELECT 1 FROM `members` WHERE `project_id` = NEW.`id` AND `break_glass` = 1)
BEGIN SELECT RAISE(ABORT, 'break_glass_missing'); END;
--> statement-breakpoint
CREATE TRIGGER `members_break_glass_changed` BEFORE UPDATE OF `break_glass` ON `members`
WHEN OLD.`break_glass` = 1 AND NEW.`break_glass` = 0 AND EXISTS (
	SELECT 1 FROM `projects` WHERE `id` = OLD.`project_id` AND `sso_enforced_by` IS NOT NULL)
AND NOT EXISTS (
	SELECT 1 FROM `members` WHERE `project_id` = OLD.`project_id` AND `break_glass` = 1 AND `user_id` <> OLD.`user_id`)
BEGIN SELECT RAISE(ABORT, 'break_glass_missing'); END;
--> statement-breakpoint
CREATE TRIGGER `members_break_glass_removed` BEFORE DELETE ON `members`
WHEN OLD.`break_glass` = 1 AND EXISTS (
	SELECT 1 FROM `projects` WHERE `id` = OLD.`project_id` AND `sso_enforced_by` IS NOT NULL AND `deleted_at` IS NULL)
AND NOT EXISTS (
	SELECT 1 FROM `members` WHERE `project_id` = OLD.`project_id` AND `break_glass` = 1 AND `user_id` <> OLD.`user_id`)
BEGIN SELECT RAISE(ABORT, 'break_glass_missing'); END;
