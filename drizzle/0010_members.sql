CREATE TABLE `invitations` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`email` text NOT NULL,
	`role` text NOT NULL,
	`state` text NOT NULL,
	`invited_by_type` text NOT NULL,
	`invited_by_id` text NOT NULL,
	`authorized_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`open_days` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`sent_at` integer,
	`send_error` text,
	`sends` integer NOT NULL,
	`recent_sends` text NOT NULL,
	`closed_by` text,
	PRIMARY KEY(`project_id`, `id`),
	CONSTRAINT "invitations_role" CHECK("invitations"."role" IN ('owner','admin','developer','viewer')),
	CONSTRAINT "invitations_state" CHECK("invitations"."state" IN ('pending','accepted','declined','revoked'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_pending` ON `invitations` (`project_id`,`email`) WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX `invitations_email` ON `invitations` (`email`,`created_at`);--> statement-breakpoint
ALTER TABLE `members` ADD `source` text DEFAULT 'creator' NOT NULL CHECK (`source` IN ('creator','invitation','sso'));--> statement-breakpoint
ALTER TABLE `members` ADD `invited_by` text;--> statement-breakpoint
CREATE TRIGGER `members_last_owner_changed` BEFORE UPDATE OF `role` ON `members`
WHEN OLD.`role` = 'owner' AND NEW.`role` <> 'owner' AND NOT EXISTS (
	SELECT 1 FROM `members` WHERE `project_id` = OLD.`project_id` AND `role` = 'owner' AND `user_id` <> OLD.`user_id`)
BEGIN SELECT RAISE(ABORT, 'last_owner'); END;
--> statement-breakpoint
CREATE TRIGGER `members_last_owner_removed` BEFORE DELETE ON `members`
WHEN OLD.`role` = 'owner' AND NOT EXISTS (
	SELECT 1 FROM `members` WHERE `project_id` = OLD.`project_id` AND `role` = 'owner' AND `user_id` <> OLD.`user_id`)
BEGIN SELECT RAISE(ABORT, 'last_owner'); END;
