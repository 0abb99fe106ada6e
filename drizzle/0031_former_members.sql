CREATE TABLE `former_members` (
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	PRIMARY KEY(`project_id`, `user_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `former_members_user` ON `former_members` (`user_id`);
--> statement-breakpoint
INSERT INTO `former_members` SELECT DISTINCT project_id, object_id FROM audit_log
	WHERE action IN ('member.removed', 'member.left');
