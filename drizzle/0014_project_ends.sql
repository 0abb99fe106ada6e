ALTER TABLE `projects` ADD `deleted_at` integer;--> statement-breakpoint
ALTER TABLE `projects` ADD `purge_at` integer;--> statement-breakpoint
ALTER TABLE `projects` ADD `purging_since` integer;--> statement-breakpoint
CREATE INDEX `projects_deleted` ON `projects` (`id`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
DROP TRIGGER `members_last_owner_removed`;--> statement-breakpoint
CREATE TRIGGER `members_last_owner_removed` BEFORE DELETE ON `members`
WHEN OLD.`role` = 'owner' AND NOT EXISTS (
	SELECT 1 FROM `members` WHERE `project_id` = OLD.`project_id` AND `role` = 'owner' AND `user_id` <> OLD.`user_id`)
AND NOT EXISTS (
	SELECT 1 FROM `projects` WHERE `id` = OLD.`project_id` AND `deleted_at` IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'last_owner'); END;
